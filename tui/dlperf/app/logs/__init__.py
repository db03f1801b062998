"""Reading logs of any size by byte offset: the file is the buffer, only what is in view is in memory."""
