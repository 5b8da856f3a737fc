"""The modules of torch.nn: a few lines each over the functions of torch.nn.functional."""
