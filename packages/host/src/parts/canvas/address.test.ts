import { expect, test } from 'vitest'
import { addressesIn } from './address.ts'

const urls = (line: string) => addressesIn(line).map(({ url }) => url)

test.each([
  ['  ➜  Local:   http://localhost:5173/', 'http://localhost:5173/', 'localhost', 5173],
  ['Starting development server at http://127.0.0.1:8000/', 'http://127.0.0.1:8000/', '127.0.0.1', 8000],
  ['- Local:        http://localhost:3000', 'http://localhost:3000', 'localhost', 3000],
  ['on 0.0.0.0 port 80 (http://0.0.0.0:8080/) ...', 'http://127.0.0.1:8080/', '127.0.0.1', 8080],
  ['on :: port 80 (http://[::]:8080/) ...', 'http://[::1]:8080/', '::1', 8080],
  ['open HTTPS://App.localhost.', 'https://app.localhost', 'localhost', 443],
  ['at http://[::1]/a?b=c#d, and', 'http://[::1]/a?b=c#d', '::1', 80],
  ['http://127.0.0.2:8888/lab?token=secret', 'http://127.0.0.2:8888/lab?token=secret', '127.0.0.2', 8888],
])('[H51] [H51.1] in %j', (line, url, host, port) => {
  expect(addressesIn(line)).toEqual([{ url, host, port }])
})

test.each([
  'http://192.168.1.2:5173/',
  'http://example.com:5173/',
  'http://localhost.example.com/',
  'http://notlocalhost:1/',
  'http://localhost@example.com/',
  'http://ann:secret@localhost:3000/',
  'http://localhost:0/',
  'http://localhost:99999/',
  'http://localhost:3000:12',
  'http://127.0.0.1.example.com/',
  'http://0.0.0.0.example.com/',
  'file://localhost/etc/passwd',
  'xhttp://localhost:3000/',
  'no address',
])('[H51.1] %j is no address of this machine', (line) => {
  expect(urls(line)).toEqual([])
})

test('[H51.1] an address ends before quotes, brackets and controls', () => {
  expect(urls('a "http://localhost:1/a" <http://localhost:2/b> http://localhost:3/\u{202e}x')).toEqual([
    'http://localhost:1/a',
    'http://localhost:2/b',
    'http://localhost:3/',
  ])
})
