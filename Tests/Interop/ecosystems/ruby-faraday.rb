# Prints the body of a URL by Faraday, with no settings of its own.
require "faraday"

answer = Faraday.get(ARGV[0])
abort answer.status.to_s unless answer.success?
$stdout.binmode.write(answer.body)
