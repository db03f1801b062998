"""Programs that start released training stacks, their data, and their locked requirements."""
