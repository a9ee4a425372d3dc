"""What a field is called: the lexicon, NCEP's and ecCodes' names, levels, time ranges."""
