"""Programs that others have published, with the library they were written for and with Wengert."""
