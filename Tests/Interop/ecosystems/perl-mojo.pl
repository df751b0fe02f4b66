# Prints the body of a URL by Mojo::UserAgent, with no settings of its own.
use strict;
use warnings;
use Mojo::UserAgent;

my $answer = Mojo::UserAgent->new->get($ARGV[0])->result;
die $answer->code . "\n" unless $answer->is_success;
binmode STDOUT;
print $answer->body;
