"""Other libraries' names and habits over one engine: tables, and what is truly their own."""
