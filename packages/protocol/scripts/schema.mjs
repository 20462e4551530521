// Writes schema/ from the built package. document.test.ts fails if the committed file differs from the output.
import { writeFileSync } from 'node:fs'
import { protocolDocument } from '../dist/document.js'

const document = protocolDocument()
const file = new URL(`../schema/${document.$id}`, import.meta.url)
writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`)
console.log(`${Object.keys(document.$defs).length} shapes written to schema/${document.$id}`)
