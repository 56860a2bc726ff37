"""One learner on several channels: two that were strangers to each other become one."""
