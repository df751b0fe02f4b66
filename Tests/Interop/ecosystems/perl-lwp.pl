# Prints the body of a URL by LWP, with no settings of its own.
use strict;
use warnings;
use LWP::UserAgent;

my $answer = LWP::UserAgent->new(timeout => 60)->get($ARGV[0]);
die $answer->status_line . "\n" unless $answer->is_success;
binmode STDOUT;
print $answer->content;
