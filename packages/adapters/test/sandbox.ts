import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Sandbox } from '../../host/src/ports/contracts/files-fixture.contract.ts'
import { nodeFiles } from '../src/files/files.ts'
import type { FilesOptions } from '../src/files/files.ts'

/** Creates two directories that are removed after the test. The adapter may use `root`. `beside` is outside of it. */
export function sandbox(options?: FilesOptions): Sandbox {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-files-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [root, beside] = [join(folder, 'root'), join(folder, 'beside')]
  mkdirSync(root)
  mkdirSync(beside)
  return {
    files: nodeFiles(options),
    root,
    beside,
    link: (path, target) => symlink(target, path),
    put: (path, text) => writeFile(path, text),
  }
}
