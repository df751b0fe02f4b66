<?php
// Prints the body of a URL by PHP's stream wrapper, with no settings of its own.
$body = file_get_contents($argv[1]);
if ($body === false) {
    exit(1);
}
echo $body;
