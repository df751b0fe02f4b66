// Prints the body of a URL by axios, with no settings of its own.
const axios = require("axios");

axios.get(process.argv[2], { responseType: "arraybuffer" }).then((answer) => process.stdout.write(answer.data), (error) => {
  console.error(error.message);
  process.exit(1);
});
