# Prints the body of a URL by HTTP::Tiny, with no settings of its own but the check of certificates.
use strict;
use warnings;
use HTTP::Tiny;

my $answer = HTTP::Tiny->new(timeout => 60, verify_SSL => 1)->get($ARGV[0]);
die "$answer->{status} $answer->{content}\n" unless $answer->{success};
binmode STDOUT;
print $answer->{content};
