// Prints the body of a URL by node:http or node:https, with no settings of its own.
const url = process.argv[2];
require(url.startsWith("https:") ? "node:https" : "node:http").get(url, (answer) => {
  if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
  answer.pipe(process.stdout);
});
