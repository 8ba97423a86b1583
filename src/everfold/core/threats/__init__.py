"""What must not reach a model as an instruction, and what must not leave: disguises, injections, secrets."""
