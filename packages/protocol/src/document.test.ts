import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { definitions, mutated, valueOf } from '../test/arbitrary.ts'
import { trials } from '../test/search.ts'
import { protocolDocument } from './document.ts'
import { decode, shapeNamed } from './schema.ts'

test('[P11] the committed JSON Schema equals the one made from the shapes (npm run schema writes it)', () => {
  const file = new URL('../schema/ahp-1.0.0.schema.json', import.meta.url)
  expect(readFileSync(file, 'utf8')).toBe(`${JSON.stringify(protocolDocument(), null, 2)}\n`)
})

test('[P11] the JSON Schema and decode accept the same values', () => {
  const ajv = new Ajv2020({ strict: false, allowUnionTypes: true })
  ajv.addSchema(protocolDocument(), 'ahp')
  // Values on which JSON Schema and `decode` may disagree. JSON Schema cannot refuse -0 and impossible dates, and only
  // `decode` reads null at an optional key as absent.
  const beyond = (value: unknown) => /:null|:-0\b|T\d\d:\d\d/.test(JSON.stringify(value) ?? '')
  fc.assert(
    fc.property(
      fc
        .constantFrom(...Object.keys(definitions))
        .chain((name) => fc.tuple(fc.constant(name), valueOf(name).chain(mutated))),
      ([name, value]) => {
        fc.pre(value !== undefined && !beyond(value))
        const schema = shapeNamed(name)
        const validate = ajv.getSchema(`ahp#/$defs/${name}`)
        if (!schema || !validate) throw new Error(`no shape ${name}`)
        expect(decode(schema, value).ok, `${name} ${JSON.stringify(value)}`).toBe(validate(value))
      },
    ),
    { numRuns: trials(1500, 300) },
  )
})
