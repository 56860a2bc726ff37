# Every target is one command of .ci/dev.py, which also works where there is no make.
PYTHON ?= python3
.PHONY: setup run serve test check bench messages lock

setup:
	@$(PYTHON) .ci/dev.py setup
run:
	@$(PYTHON) .ci/dev.py run
serve:
	@$(PYTHON) .ci/dev.py run serve
test:
	@$(PYTHON) .ci/dev.py test
check:
	@$(PYTHON) .ci/dev.py check
bench:
	@$(PYTHON) .ci/dev.py bench
messages:
	@$(PYTHON) .ci/dev.py messages
lock:
	@$(PYTHON) .ci/dev.py lock
