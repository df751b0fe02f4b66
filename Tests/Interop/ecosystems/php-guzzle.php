<?php
// Prints the body of a URL by Guzzle, with no settings of its own.
require_once 'GuzzleHttp/autoload.php';
echo (new GuzzleHttp\Client())->get($argv[1])->getBody();
