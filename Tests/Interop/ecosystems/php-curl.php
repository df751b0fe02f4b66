<?php
// Prints the body of a URL by PHP's curl extension, with no settings of its own.
$curl = curl_init($argv[1]);
curl_setopt_array($curl, [CURLOPT_RETURNTRANSFER => true, CURLOPT_FAILONERROR => true]);
$body = curl_exec($curl);
if ($body === false) {
    fwrite(STDERR, curl_error($curl) . "\n");
    exit(1);
}
echo $body;
