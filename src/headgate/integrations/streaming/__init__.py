"""A gate for streams: micro-batches are checked before they are written, windows of them are judged as batches."""
