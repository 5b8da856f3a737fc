"""autograd.Function: operations with a program's own derivatives."""
