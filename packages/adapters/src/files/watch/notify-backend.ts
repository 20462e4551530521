import { existsSync, watch } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { codeOf } from '../../process/error-code.ts'
import { openByDescriptor, openByPath } from './open-directory.ts'
import type { OpenDirectory } from './open-directory.ts'
import { processQueue } from './overflow.ts'
import type { EventQueue } from './overflow.ts'

/** The system's way to report changes in directories: inotify on Linux, other interfaces behind `fs.watch` elsewhere. */
export interface NotifyBackend {
  /**
   * Whether each directory has a watch of its own. If not, one watch of the root covers all directories below it.
   * Such a watch reports less: in a new directory, only the entries that exist when it is first read.
   */
  readonly perDirectory: boolean
  /** Whether events arrive for all changes. False on network file systems, which need polling as well. */
  readonly reliable: boolean
  readonly queue: EventQueue
  /** Watches a directory; throws if the system refuses. */
  watch(path: string, listener: NotifyListener): NotifyWatch
  watchFile(path: string, listener: NotifyListener): NotifyWatch
  openDirectory(path: string): Promise<OpenDirectory>
}

/** `type` is `rename` or `change`. `name` is `.` for the directory itself, and null if the system does not say. */
export type NotifyListener = (type: string, name: string | null) => void

export interface NotifyWatch {
  close(): void
}

/** Returns the backend for the file system of a path. */
export async function backendFor(path: string): Promise<NotifyBackend> {
  const { type } = await statfs(path).catch(() => ({ type: 0 }))
  return backendOn(type)
}

/** Returns the backend for a file system, by its `statfs` type. */
export function backendOn(type: number): NotifyBackend {
  const backend = process.platform === 'linux' ? perDirectoryBackend : recursiveBackend
  return remoteFileSystems.includes(type) ? { ...backend, reliable: false } : backend
}

/** One watch for each directory. */
export const perDirectoryBackend: NotifyBackend = {
  perDirectory: true,
  reliable: true,
  queue: processQueue,
  // For a change of the directory itself, the kernel reports the last name of the watched path. With `/.` this name
  // is `.`, which cannot be confused with an entry.
  watch: (path, listener) => startWatch(`${path}/.`, false, listener),
  watchFile: (path, listener) => startWatch(path, false, listener),
  // A descriptor guarantees that the watched directory and the listed directory are the same.
  openDirectory: existsSync('/proc/self/fd') ? openByDescriptor : openByPath,
}

/** One watch for a whole tree. */
export const recursiveBackend: NotifyBackend = {
  ...perDirectoryBackend,
  perDirectory: false,
  watch: (path, listener) => startWatch(path, true, listener),
  openDirectory: openByPath,
}

/** Whether an error means that the system, or this process, has no watches, descriptors or memory left. */
export function isOutOfResources(error: unknown): boolean {
  return ['ENOSPC', 'EMFILE', 'ENFILE', 'ENOMEM'].includes(codeOf(error) ?? '')
}

/** Whether an error means that a directory exists and may not be read. */
export function isAccessDenied(error: unknown): boolean {
  return ['EACCES', 'EPERM'].includes(codeOf(error) ?? '')
}

/**
 * Starts a system watch that does not keep the process alive. An error of the watch counts as a change of the
 * directory.
 */
function startWatch(path: string, recursive: boolean, listener: NotifyListener): NotifyWatch {
  const watcher = watch(path, { persistent: false, recursive }, (type, name) => listener(type, name))
  watcher.on('error', () => listener('rename', '.'))
  return watcher
}

/** The `statfs` types of NFS, SMB, SMB2, CIFS, AFS, 9p, FUSE and Ceph: other machines may change their files. */
const remoteFileSystems: readonly number[] = [
  0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x5346414f, 0x01021997, 0x65735546, 0x00c36400,
]
