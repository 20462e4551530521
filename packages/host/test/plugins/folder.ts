import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { nodeFiles } from '@atrium/adapters/files'
import { onTestFinished } from 'vitest'
import { containedFiles } from '../../src/plugins/plugin-files.ts'
import type { PluginFiles } from '../../src/plugins/plugin-files.ts'

/** The files of a folder: each path with its text, or its JSON. */
export interface Contents {
  readonly [path: string]: string | Uint8Array | object
}

export interface Folder {
  readonly root: string
  readonly files: PluginFiles
  put(contents: Contents): void
}

/** Writes a real folder, which is removed after the test. The returned `files` read it through the adapter for files. */
export function folder(contents: Contents, name = 'my-plugin'): Folder {
  const outer = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-plugins-')))
  onTestFinished(() => rmSync(outer, { recursive: true, force: true }))
  const root = join(outer, name)
  mkdirSync(root, { recursive: true })
  const put = (more: Contents) => {
    for (const [path, content] of Object.entries(more)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), bytesOf(content))
    }
  }
  put(contents)
  return { root, files: containedFiles(nodeFiles(), root), put }
}

export function bytesOf(content: Contents[string]): Uint8Array {
  if (content instanceof Uint8Array) return content
  return new TextEncoder().encode(typeof content === 'string' ? content : JSON.stringify(content))
}
