"""Language models behind one port: a remote one over HTTP, or a small one in this process."""
