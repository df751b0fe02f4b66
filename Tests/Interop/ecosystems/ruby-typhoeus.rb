# Prints the body of a URL by Typhoeus, which is libcurl, with no settings of its own.
require "typhoeus"

answer = Typhoeus.get(ARGV[0])
abort answer.return_message unless answer.success?
$stdout.binmode.write(answer.body)
