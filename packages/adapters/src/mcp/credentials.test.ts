import { expect, test } from 'vitest'
import { secretsOf } from './credentials.ts'
import { redactor } from '../process/redact.ts'

test('[F6.1] the credentials in the config of a server are left out of a text, and other values stay', () => {
  const program = redactor(
    secretsOf({
      command: '/opt/tools',
      args: ['--api-key', 'hush-one', '--access-token=hush-two', '--root', '/data/all'],
      env: {
        MY_SECRET: 'hush-three',
        PASSWORD: 'short',
        PROXY: 'http://ann:hush-four@proxy',
        PLACE: 'Berne',
      },
    }),
  )
  expect(program('hush-one hush-two /data/all hush-three short http://ann:hush-four@proxy Berne')).toBe(
    '… … /data/all … short http://…@proxy Berne',
  )
  const remote = redactor(
    secretsOf({
      url: 'https://x.example/mcp?credential=hush-five&page=second',
      headers: { Authorization: 'Bearer hush-six', Cookie: 'hush-seven', Accept: 'text/plain' },
    }),
  )
  expect(remote('hush-five second hush-six hush-seven text/plain')).toBe('… second … … text/plain')
})
