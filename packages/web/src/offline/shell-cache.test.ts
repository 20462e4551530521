import { expect, test } from 'vitest'
import { ShellCache } from './shell-cache.ts'
import type { Platform } from './shell-cache.ts'

/** A browser that keeps texts, and a host that has the files of a build. */
class Browser {
  readonly kept = new Map<string, Map<string, string>>()
  /** The host's answers by path. Undefined: no host answers. */
  host: { readonly [path: string]: string } | undefined
  readonly asked: string[] = []
  /** Ends the waits for the host that were begun. */
  readonly impatient: (() => void)[] = []

  readonly platform: Platform = {
    caches: {
      // Only these members are used, of caches and of one cache, and only paths as names: hence the casts.
      open: async (name: string) => {
        const files = this.kept.get(name) ?? new Map<string, string>()
        this.kept.set(name, files)
        return {
          put: async (path: string, response: Response) => void files.set(path, await response.text()),
          match: async (path: string) => responseOf(files.get(path)),
        } as never
      },
      keys: async () => [...this.kept.keys()],
      delete: async (name: string) => this.kept.delete(name),
      match: async (path: unknown) =>
        responseOf([...this.kept.values()].map((files) => files.get(path as string)).find(Boolean)),
    },
    fetch: async (path) => {
      this.asked.push(path)
      if (!this.host) throw new TypeError('Failed to fetch')
      const text = this.host[path]
      return text === undefined ? new Response('', { status: 404 }) : new Response(text)
    },
    digest: async (bytes) => `digest of ${new TextDecoder().decode(bytes)}`,
    wait: () => new Promise((resolve) => this.impatient.push(resolve)),
  }

  worker(shell: string, files: readonly string[]): ShellCache {
    return new ShellCache({ shell: `digest of ${shell}`, files }, this.platform)
  }
}

const responseOf = (text: string | undefined) => (text === undefined ? undefined : new Response(text))
const address = (path: string) => new URL(path, 'http://127.0.0.1:1')
const read = async (worker: ShellCache, path: string) => {
  const answer = worker.answer('GET', address(path))
  return answer && (await answer()).text()
}

const one = { '/': 'one', '/assets/a-1.js': 'code 1' }
const two = { '/': 'two', '/assets/a-2.js': 'code 2' }

test('[U45] the page of the host is shown while it answers, and the kept one otherwise', async () => {
  const browser = new Browser()
  browser.host = one
  const worker = browser.worker('one', Object.keys(one))
  await worker.install()
  browser.host = { ...one, '/': 'newer' }
  expect(await read(worker, '/')).toBe('newer')
  browser.host = undefined
  expect(await read(worker, '/')).toBe('one')
  expect(await read(worker, '/assets/a-1.js')).toBe('code 1')
})

test('[U45] a host that does not answer in time is not waited for', async () => {
  const browser = new Browser()
  browser.host = one
  await browser.worker('one', Object.keys(one)).install()
  const silent = { ...browser.platform, fetch: () => new Promise<never>(() => {}) }
  const worker = new ShellCache({ shell: 'digest of one', files: ['/'] }, silent)
  const page = read(worker, '/')
  for (const end of browser.impatient) end()
  expect(await page).toBe('one')
})

test('[U45] [U45.2] a build that changes while it is loaded is not kept', async () => {
  const browser = new Browser()
  browser.host = two
  await expect(browser.worker('one', ['/']).install()).rejects.toThrow('another build')
  browser.host = { '/': 'one' }
  await expect(browser.worker('one', Object.keys(one)).install()).rejects.toThrow('404 to /assets/a-1.js')
  expect(browser.kept.size).toBe(0)
})

test('[U45] [U45.2] the files of the build before stay for pages that are open, and older ones go', async () => {
  const browser = new Browser()
  const builds = [one, two, { '/': 'three', '/assets/a-3.js': 'code 3' }]
  for (const build of builds) {
    browser.host = build
    const worker = browser.worker(build['/'], Object.keys(build))
    await worker.install()
    await worker.activate()
  }
  browser.host = undefined
  const last = browser.worker('three', ['/'])
  expect(browser.kept.size).toBe(2)
  expect(await read(last, '/assets/a-2.js')).toBe('code 2')
  expect(await read(last, '/')).toBe('three')
  await expect(read(last, '/assets/a-1.js')).rejects.toThrow('Failed to fetch')
})

test.each([
  ['POST', '/'],
  ['POST', '/enter/ticket'],
  ['GET', '/enter/challenge'],
  ['GET', '/?tkn=secret'],
  ['GET', '/assets/a-1.js?x'],
  ['GET', '/healthz'],
  ['HEAD', '/'],
])('[U45] [U45.1] %s %s is left alone', (method, path) => {
  expect(new Browser().worker('one', Object.keys(one)).answer(method, address(path))).toBeUndefined()
})
