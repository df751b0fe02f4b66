# Prints the body of a URL by the package httr, with no settings of its own.
answer <- httr::GET(commandArgs(TRUE)[1])
httr::stop_for_status(answer)
out <- pipe("cat", "wb")
writeBin(httr::content(answer, "raw"), out)
close(out)
