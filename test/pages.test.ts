import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { filesBelow, root } from './files.ts'
import { manifestOf } from './packed.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')

// The cast names the parts of our own file; the test compares each of them.
const owner = JSON.parse(read('owner.json')) as {
  readonly repository: string
  readonly security: string
  readonly authors: string
  readonly scope: string
  readonly command: string
}

test('[A10] each relative link of a page leads to something that is there', () => {
  const dead = filesBelow(root, /\.md$/).flatMap((path) => {
    const text = readFileSync(path, 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '')
    const links = [...text.matchAll(/\]\(([^)#\s:]+)(?:#[^)\s]*)?\)/g)].map(([, link = '']) => link)
    return links
      .filter((link) => !existsSync(join(dirname(path), link)))
      .map((link) => `${relative(root, path)}: ${link}`)
  })
  expect(dead).toEqual([])
})

test('[A10] no table of a page is padded, so that one changed cell changes one line', () => {
  const padded = filesBelow(root, /\.md$/).filter((path) =>
    /^ *\|.*(?: {2}\||-----)/m.test(readFileSync(path, 'utf8')),
  )
  expect(padded.map((path) => relative(root, path))).toEqual([])
})

test('[A10] README has at most 200 lines, and names each page of docs', () => {
  const readme = read('README.md')
  expect(readme.split('\n').length).toBeLessThanOrEqual(201)
  const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
  expect(pages.filter((name) => !readme.includes(`(docs/${name})`))).toEqual([])
})

test('[A10] the public CI runs .ci/run, on the version of Node that .nvmrc names', () => {
  const ci = read('.github/workflows/ci.yml')
  expect(ci).toContain('- run: .ci/run\n')
  expect(/container: node:(\d+)-/.exec(ci)?.[1]).toBe(read('.nvmrc').trim())
})

test('[A9] names and addresses that an owner sets are those of owner.json', () => {
  const packages = readdirSync(join(root, 'packages')).map((name) => manifestOf(`packages/${name}`))
  expect(manifestOf('').repository).toEqual({ type: 'git', url: `git+${owner.repository}.git` })
  expect(
    packages.filter(({ name }) => name !== owner.command && !name.startsWith(`${owner.scope}/`)),
  ).toEqual([])
  expect(manifestOf('packages/cli').name).toBe(owner.command)
  for (const page of ['README.md', 'docs/operations.md'])
    expect(/npm uninstall --global (\S+?)[`\s]/.exec(read(page))?.[1]).toBe(owner.command)
  expect(read('SECURITY.md')).toContain(`<${owner.security}>`)
  expect(read('LICENSE')).toContain(`Copyright (c) 2026 ${owner.authors}\n`)
})
