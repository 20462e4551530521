import { rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { undoing } from '../../../host/src/ports/contracts/captures-apply.contract.ts'
import { amply, taking, textOf } from '../../../host/src/ports/contracts/captures.contract.ts'
import { DiskRepository } from '../../test/captures/folder.ts'
import { needsGit } from '../../test/repository.ts'

needsGit()

/** A time that is certainly before git writes its index. */
const early = new Date(Date.now() - 3_600_000)

/** A repository with committed files, and functions that compare it with its commit. */
async function committed(attributes: string, files: Readonly<Record<string, string>>) {
  const made = new DiskRepository()
  const { captures, directory, repository } = made
  const git = (...args: string[]) => repository.git(...args)
  const write = async (path: string, text: string, time = early) => {
    await made.write(path, text)
    utimesSync(made.at(path), time, time)
  }
  // The filter stands for LFS. The host knows neither it nor its program.
  git('config', 'filter.lfs.clean', 'tr -d a-y')
  if (attributes !== '') await write('.gitattributes', attributes)
  for (const [path, text] of Object.entries(files)) await write(path, text)
  await made.commit()
  git('config', '--unset', 'filter.lfs.clean')
  const since = async (of: 'head' | 'branch' = 'head', budget = amply) => {
    const commit = await captures.take(directory, taking({ of }))
    return captures.compare(commit.id, (await captures.take(directory, taking({ budget }))).id)
  }
  /** What happens to the file when the changes are taken back. */
  const takenBack = async (path: string) => {
    const { left } = await captures.apply(directory, undoing(await since()))
    return { left: left.map((each) => each.path), text: await made.text(path) }
  }
  return { made, captures, git, write, since, takenBack }
}

const anotherForm = expect.stringMatching(/^The repository stores it in another form .+\.$/)

const kinds = [
  { name: 'eol=crlf', attributes: '*.x text eol=crlf\n', text: 'one\r\ntwo\r\n' },
  { name: 'working-tree-encoding', attributes: '*.x working-tree-encoding=UTF-16LE\n', text: 'a\0b\0\n\0' },
  { name: 'filter=lfs without its program', attributes: '*.x filter=lfs\n', text: 'real content\n' },
]

describe.each(kinds)('[O26] $name', ({ attributes, text }) => {
  test('a file that is as git left it has not changed since the commit', async () => {
    const { since, git, made } = await committed(attributes, { 'a.x': text, 'deep/b.x': text, c: text })
    expect(await since()).toEqual([])
    expect(await since('branch')).toEqual([])
    git('checkout', '-q', '-b', 'topic')
    await made.write('c', 'changed\n')
    expect(await since()).toMatchObject([{ path: 'c', after: { size: 8 } }])
    expect(await since('branch')).toHaveLength(1)
  })

  test('[O26.1] a changed file is listed, and is never set back to the form of the repository', async () => {
    const { since, takenBack, write } = await committed(attributes, { 'a.x': text })
    const changed = `${text}more\r\n`
    await write('a.x', changed)
    const [change] = await since()
    expect(change).toMatchObject({ path: 'a.x', before: { omitted: anotherForm } })
    expect(change?.after).not.toHaveProperty('omitted')
    expect(change).not.toHaveProperty('added')
    expect(await takenBack('a.x')).toEqual({ left: ['a.x'], text: changed })
  })

  test('a deleted file is listed, and is not written in the form of the repository', async () => {
    const { since, takenBack, made } = await committed(attributes, { 'a.x': text })
    rmSync(made.at('a.x'))
    expect(await since()).toMatchObject([{ path: 'a.x', before: { omitted: anotherForm } }])
    expect(await takenBack('a.x')).toEqual({ left: ['a.x'], text: undefined })
  })

  test('what a turn changes is set back to the bytes that were on the disk', async () => {
    const { made, captures, write } = await committed(attributes, { 'a.x': text })
    const before = await captures.take(made.directory, taking())
    await write('a.x', 'by the turn\n', new Date())
    const after = await captures.take(made.directory, taking())
    await captures.apply(made.directory, undoing(await captures.compare(before.id, after.id)))
    expect(await made.text('a.x')).toBe(text)
  })
})

describe('[O26] files that git converts', () => {
  test('line ends are compared where the index tells nothing', async () => {
    const { since, write } = await committed('*.x text eol=crlf\n*.y text=auto\n', {
      'a.x': 'one\r\ntwo\r\n',
      'b.y': 'one\r\ntwo\r\n',
    })
    await write('a.x', 'one\r\ntwo\r\n', new Date())
    await write('b.y', 'one\r\ntwo\r\n', new Date())
    expect(await since()).toEqual([])
    await write('b.y', 'one\r\ntwo\r\nthree\r\n', new Date())
    expect(await since()).toMatchObject([{ path: 'b.y', before: { size: 8 }, after: { size: 17 } }])
  })

  test('[O26.1] a filtered file with other times than in the index is listed: nobody knows whether it has changed', async () => {
    const { since, write } = await committed('*.x filter=lfs\n', { 'a.x': 'real\n' })
    await write('a.x', 'real\n', new Date())
    expect(await since()).toMatchObject([{ path: 'a.x', before: { omitted: anotherForm } }])
  })

  test('a file that is staged differs from the commit', async () => {
    const { since, git, write } = await committed('*.x filter=lfs\n', { 'a.x': 'real\n' })
    await write('a.x', 'NEW\n')
    git('add', 'a.x')
    expect(await since()).toMatchObject([{ path: 'a.x', before: { omitted: anotherForm } }])
  })

  test('a filtered file that is too large for a capture, and as git left it, has not changed', async () => {
    const { since } = await committed('*.x filter=lfs\n', { 'a.x': 'real content\n' })
    expect(await since('head', { ...amply, fileBytes: 5 })).toEqual([])
  })

  test('text files that a checkout does not convert are compared and set back as ever', async () => {
    const { since, takenBack, write, captures } = await committed('* text=auto\n', { a: 'one\n' })
    await write('a', 'one\ntwo\n')
    const [change] = await since()
    expect(change).toMatchObject({ path: 'a', added: 1, removed: 0 })
    expect(await textOf(captures, change?.before)).toBe('one\n')
    expect(await takenBack('a')).toEqual({ left: [], text: 'one\n' })
  })

  test('the attributes of the repository outside its files count, too', async () => {
    const { made, captures, git, write } = await committed('', {})
    git('config', 'filter.lfs.clean', 'tr -d a-y')
    await made.write(join('.git', 'info', 'attributes'), '*.x filter=lfs\n')
    await write('a.x', 'real content\n')
    await made.commit()
    git('config', '--unset', 'filter.lfs.clean')
    const before = await captures.take(made.directory, taking())
    await write('a.x', 'by the turn\n', new Date())
    const after = await captures.take(made.directory, taking())
    const [change] = await captures.compare(before.id, after.id)
    expect(await textOf(captures, change?.before)).toBe('real content\n')
  })

  test('where the settings convert line ends, files are set back only to what is known', async () => {
    const { since, git, write, made } = await committed('', { a: 'one\r\n', b: 'one\n' })
    git('config', 'core.autocrlf', 'true')
    git('rm', '-q', '--cached', 'a')
    await made.commit()
    await write('a', 'one\r\n', new Date())
    expect(await since()).toEqual([])
    await write('a', 'two\r\n', new Date())
    expect(await since()).toMatchObject([{ path: 'a', before: { omitted: anotherForm } }])
  })
})
