process.stderr.write(`Atrium's host is not part of this build yet. What is here:

  npm test                             every test
  npm run bench -- reducers            what a token costs
  npm run conformance -- fixtures DIR  the published AHP fixtures against this build
`)
