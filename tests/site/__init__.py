"""The built site: links, and in a browser colours, search, copying, accessibility."""
