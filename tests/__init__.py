"""The tests: a folder for each folder of src/wengert, and pages, programs and peers beside them."""
