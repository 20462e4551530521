import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { CapturedFolder } from '../../../host/src/ports/contracts/captures.contract.ts'
import { gitCaptures } from '../../src/captures/captures.ts'
import { TestRepository, newFolder, newUser } from '../repository.ts'

/** A folder on the disk with captures of it. */
export class DiskFolder implements CapturedFolder {
  readonly directory: string
  readonly user = newUser()
  /** The folder of the captures. */
  readonly data = join(newFolder(), 'captures')
  readonly captures = gitCaptures({ folder: this.data, user: this.user })

  constructor(directory = join(newFolder(), 'tree')) {
    this.directory = directory
    mkdirSync(directory, { recursive: true })
  }

  at(path: string): string {
    return join(this.directory, path)
  }

  readonly write: CapturedFolder['write'] = async (path, content, mode = '100644') => {
    rmSync(this.at(path), { force: true })
    mkdirSync(dirname(this.at(path)), { recursive: true })
    if (mode === '120000') symlinkSync(String(content), this.at(path))
    else {
      writeFileSync(this.at(path), content)
      chmodSync(this.at(path), mode === '100755' ? 0o755 : 0o644)
    }
  }

  readonly remove: CapturedFolder['remove'] = async (path) => rmSync(this.at(path), { recursive: true })

  readonly text: CapturedFolder['text'] = async (path) => {
    const info = lstatSync(this.at(path), { throwIfNoEntry: false })
    if (!info) return undefined
    return info.isSymbolicLink() ? readlinkSync(this.at(path)) : readFileSync(this.at(path), 'utf8')
  }

  readonly ignore: CapturedFolder['ignore'] = (name) => this.write('.gitignore', `${name}\n`)

  readonly restart: CapturedFolder['restart'] = async () =>
    gitCaptures({ folder: this.data, user: this.user })
}

/** A repository with captures of it. */
export class DiskRepository extends DiskFolder {
  readonly repository: TestRepository

  constructor(repository = new TestRepository()) {
    super(repository.root)
    this.repository = repository
  }

  readonly commit = async () => void (await this.repository.commit())
}
