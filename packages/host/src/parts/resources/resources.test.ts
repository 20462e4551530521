import { rootUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { testHost } from '../../../test/test-host.ts'
import { FileError } from '../../ports/files.ts'
import { w, hostWithFiles, grant } from '../../../test/files-host.ts'

test('[Q1] [Q1.1] a file is read as text, or as base64 if it is not UTF-8 or base64 is asked for', async () => {
  const { ann, files } = await hostWithFiles()
  const read = (uri: string, encoding?: 'base64' | 'utf-8') =>
    ann.ask('resourceRead', { uri, ...(encoding && { encoding }) })
  const text = { data: 'hello\n', encoding: 'utf-8', contentType: 'text/plain' }
  expect(await read(`${w}/a.txt`)).toEqual(text)
  expect(await read(`${w}/a.txt`, 'utf-8')).toEqual(text)
  expect(await read(`${w}/a.txt`, 'base64')).toMatchObject({ data: 'aGVsbG8K', encoding: 'base64' })
  files.put('/w/b.png', new Uint8Array([0x89, 0x50, 0x00, 0xff]))
  files.put('/w/nul', 'a\0b')
  files.put('/w/bom', '\uFEFFa')
  const png = { data: 'iVAA/w==', encoding: 'base64', contentType: 'image/png' }
  expect(await read(`${w}/b.png`)).toEqual(png)
  expect(await read(`${w}/b.png`, 'utf-8')).toEqual(png)
  expect(await read(`${w}/nul`)).toEqual({ data: 'YQBi', encoding: 'base64' })
  expect(await read(`${w}/nul`, 'utf-8')).toEqual({ data: 'a\0b', encoding: 'utf-8' })
  expect(await read(`${w}/bom`)).toEqual({ data: '\uFEFFa', encoding: 'utf-8' })
})

test('[Q1] [Q1.2] reads, writes, lists and changes reach the files port with the roots they must be in', async () => {
  const { ann, files } = await hostWithFiles()
  await ann.ask('resourceWrite', {
    uri: `${w}/n`,
    data: 'aGk=',
    encoding: 'base64',
    ifMatch: 'e0',
    mode: 'insert',
    position: 3,
  })
  expect(files.files.get('/w/n')).toEqual(new TextEncoder().encode('hi'))
  const bad = ann.ask('resourceWrite', { uri: `${w}/n`, data: 'a', encoding: 'base64' })
  await expect(bad).rejects.toMatchObject({ code: -32602 })
  files.put('/w/b', '')
  expect(await ann.ask('resourceList', { uri: w })).toEqual({
    entries: [
      { name: 'a.txt', type: 'file' },
      { name: 'b', type: 'file' },
      { name: 'n', type: 'file' },
    ],
  })
  expect(await ann.ask('resourceResolve', { uri: `${w}/a.txt` })).toEqual({
    uri: `${w}/a.txt`,
    type: 'file',
    size: 6,
    mtime: '1970-01-01T00:00:01.000Z',
    ctime: '1970-01-01T00:00:02.000Z',
    contentType: 'text/plain',
    etag: 'e1',
  })
  expect(await ann.ask('resourceMkdir', { uri: `${w}/d` })).toEqual({})
  expect(await ann.ask('resourceDelete', { uri: `${w}/d`, recursive: true })).toEqual({})
  const both = { source: `${w}/a.txt`, destination: `${w}/c`, failIfExists: true }
  expect(await ann.ask('resourceCopy', both)).toEqual({})
  expect(await ann.ask('resourceMove', both)).toEqual({})
  const roots = ['/w']
  const from = { path: '/w/a.txt', roots }
  const to = { path: '/w/c', roots }
  expect(files.changes).toEqual([
    { kind: 'make', place: { path: '/w/d', roots } },
    { kind: 'remove', place: { path: '/w/d', roots }, recursive: true },
    { kind: 'copy', from, to, failIfExists: true },
    { kind: 'move', from, to, failIfExists: true },
  ])
  expect(files.asked[0]).toEqual({
    what: 'write {"mode":"insert","position":3,"ifMatch":"e0"}',
    place: { path: '/w/n', roots },
  })
})

const everyUse: readonly (readonly [string, (uri: string) => object])[] = [
  ['resourceRead', (uri) => ({ uri })],
  ['resourceWrite', (uri) => ({ uri, data: '', encoding: 'utf-8' })],
  ['resourceList', (uri) => ({ uri })],
  ['resourceResolve', (uri) => ({ uri })],
  ['resourceMkdir', (uri) => ({ uri })],
  ['resourceDelete', (uri) => ({ uri })],
  ['resourceRequest', (uri) => ({ uri })],
  ['createResourceWatch', (uri) => ({ uri })],
  ['resourceCopy', (uri) => ({ source: uri, destination: `${w}/x` })],
  ['resourceCopy', (uri) => ({ source: `${w}/a.txt`, destination: uri })],
  ['resourceMove', (uri) => ({ source: uri, destination: `${w}/x` })],
  ['resourceMove', (uri) => ({ source: `${w}/a.txt`, destination: uri })],
]

test.each(everyUse)(
  '[Q2] [Q2.3] S-28: %s outside is denied with the missing grant, and the disk is not touched',
  async (method, params) => {
    const { ann, files } = await hostWithFiles()
    for (const uri of [
      'file:///etc/passwd',
      'file:///w2/a',
      'file:///',
      'file:///home',
      'file:///home/dev2',
    ]) {
      const denied = await ann
        .ask(method as 'resourceRead', params(uri) as never)
        .catch((error: unknown) => error)
      expect(denied, uri).toMatchObject({ code: -32009, data: { request: { uri, read: true } } })
    }
    expect(files.asked).toEqual([])
  },
)

test('[Q2] [Q2.2] below the default directory, folders are listed and resolved without a grant, and files are not read', async () => {
  const { ann } = await hostWithFiles()
  const home = 'file:///home/dev'
  expect(await ann.ask('resourceList', { uri: home })).toEqual({
    entries: [{ name: 'notes.md', type: 'file' }],
  })
  expect(await ann.ask('resourceResolve', { uri: `${home}/src` })).toMatchObject({ type: 'directory' })
  for (const asked of [
    ann.ask('resourceRead', { uri: `${home}/notes.md` }),
    ann.ask('resourceResolve', { uri: `${home}/notes.md` }),
    ann.ask('resourceMkdir', { uri: `${home}/d` }),
    ann.ask('createResourceWatch', { uri: home }),
  ])
    await expect(asked).rejects.toMatchObject({ code: -32009 })
})

test('[Q2] [Q2.1] [Q2.3] all clients see the grants; grants last and can be removed; a grant to read does not allow writing', async () => {
  const { all, ann } = await hostWithFiles()
  const uri = 'file:///srv/data/x'
  const write = { uri, data: '', encoding: 'utf-8' } as const
  await expect(ann.ask('resourceRequest', { uri })).rejects.toMatchObject({
    data: { request: { uri, read: true } },
  })
  expect((await grant(ann, [{ uri: 'file:///srv/data' }])).rejectionReason).toBeUndefined()
  expect(await ann.ask('resourceRequest', { uri })).toEqual({})
  await expect(ann.ask('resourceWrite', write)).rejects.toMatchObject({
    code: -32009,
    data: { request: { uri, read: true, write: true } },
  })
  await grant(ann, [{ uri: 'file:///srv/data', write: true }])
  expect(await ann.ask('resourceWrite', write)).toEqual({})
  await all.restart()
  const ben = await all.join('ben', { subscribe: [rootUri] })
  expect(ben.state(rootUri)).toMatchObject({
    config: { values: { 'atrium.grants': [{ uri: 'file:///srv/data', write: true }] } },
  })
  expect(await ben.ask('resourceWrite', write)).toEqual({})
  await grant(ben, [])
  await expect(ben.ask('resourceRead', { uri })).rejects.toMatchObject({ code: -32009 })
})

test('[Q2] a malformed grant is refused with a reason, and changes nothing', async () => {
  const { ann } = await hostWithFiles()
  for (const [grants, why] of [
    ['all', /atrium.grants/],
    [null, /atrium.grants/],
    [[{}], /atrium.grants/],
    [[{ uri: 'https://example.com' }], /atrium.grants/],
    [[{ uri: 'file:///srv/../etc' }], /atrium.grants/],
    [[{ uri: 'file:///srv', write: 'yes' }], /atrium.grants/],
  ] as const)
    expect((await grant(ann, grants)).rejectionReason).toMatch(why)
  expect(ann.state(rootUri)).toMatchObject({ config: { values: {} } })
})

test('[Q2] the directories of a session may be used while it exists', async () => {
  const { ann } = await hostWithFiles()
  await ann.ask('disposeSession', { channel: 's:/1' })
  await expect(ann.ask('resourceRead', { uri: `${w}/a.txt` })).rejects.toMatchObject({ code: -32009 })
  await ann.ask('createSession', { channel: 's:/2', workingDirectories: ['file:///v'] })
  expect(await ann.ask('resourceRequest', { uri: 'file:///v/x', write: true })).toEqual({})
  await ann.echo(
    ann.dispatch('s:/2', {
      type: 'session/workingDirectoryReplaced',
      directory: 'file:///v',
      replacement: w,
    }),
  )
  expect(await ann.ask('resourceRequest', { uri: `${w}/x`, write: true })).toEqual({})
  await expect(ann.ask('resourceRequest', { uri: 'file:///v/x' })).rejects.toMatchObject({ code: -32009 })
})

test('[Q3] file errors have the error codes of the protocol', async () => {
  const { ann, files } = await hostWithFiles()
  for (const [reason, code] of [
    ['missing', -32008],
    ['outside', -32009],
    ['exists', -32010],
    ['changed', -32011],
    ['unfit', -32602],
    ['refused', -32009],
  ] as const) {
    files.trouble = new FileError(reason, `words of ${reason}`)
    const failed = await ann.ask('resourceResolve', { uri: `${w}/a.txt` }).catch((error: unknown) => error)
    expect(failed).toMatchObject({ code })
    if (reason !== 'outside') expect(failed).toMatchObject({ message: `words of ${reason}` })
  }
  files.trouble = new Error('EIO at /secret/place')
  const inside = await ann.ask('resourceRead', { uri: `${w}/a.txt` }).catch((error: unknown) => error)
  expect(inside).toMatchObject({ code: -32603, message: 'internal error' })
})

test('[Q3] a read-only host changes no file', async () => {
  const { all } = await hostWithFiles()
  await all.restart('close', 'read-only')
  const ben = await all.join('ben')
  expect(await ben.ask('resourceRead', { uri: `${w}/a.txt` })).toMatchObject({ data: 'hello\n' })
  for (const [method, params] of everyUse)
    if (!/Read|List|Resolve|Request/.test(method))
      await expect(ben.ask(method as 'resourceRead', params(`${w}/y`) as never)).rejects.toMatchObject({
        code: -32009,
        message: 'read-only',
      })
})

test('[Q1.4] a host without files has no such methods', async () => {
  const all = await testHost()
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: 's:/1', workingDirectories: [w] })
  for (const [method, params] of everyUse)
    if (method !== 'resourceRequest')
      await expect(ann.ask(method as 'resourceRead', params(`${w}/a.txt`) as never)).rejects.toMatchObject({
        code: -32601,
      })
})

test('[Q1] [Q1.3] reads do not wait for one another; a change waits for all earlier requests', async () => {
  const { all, ann, files } = await hostWithFiles()
  files.hangs = true
  const hanging = ann.ask('resourceRead', { uri: `${w}/a.txt` }).catch((error: unknown) => error)
  await ann.ask('ping', {})
  files.hangs = false
  expect(await ann.ask('resourceRead', { uri: `${w}/a.txt` })).toMatchObject({ data: 'hello\n' })
  const order: string[] = []
  void hanging.then(() => order.push('read'))
  const written = ann.ask('resourceWrite', { uri: `${w}/a.txt`, data: 'new', encoding: 'utf-8' })
  const after = ann.ask('resourceRead', { uri: `${w}/a.txt` }).then(({ data }) => order.push(data))
  void written.then(() => order.push('written'))
  await ann.ask('ping', {})
  expect(order).toEqual([])
  all.world.advance(30_000)
  await after
  expect(order).toEqual(['read', 'written', 'new'])
})
