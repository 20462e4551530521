import { readSync, writeSync } from 'node:fs'
import type { ReadStream } from 'node:tty'
import type { IPty } from '@lydell/node-pty'
import { codeOf } from '../process/error-code.ts'

/** Callbacks of a program on a pty. */
export interface PtyListener {
  data(bytes: Buffer): void
  /** Called when the program has ended, and processes that it started still hold the pty. */
  orphaned(): void
  /** Called when the program has ended, and all output was passed to `data`. */
  exited(exitCode: number): void
}

/**
 * One program on a pty, without loss of output. This class repairs two faults of node-pty. First, node-pty loses the end
 * of the output: libuv treats a hangup as the end although the kernel holds more bytes, and node-pty closes the pty
 * 200 ms after the exit. So this class decides when to close the pty, and reads the remaining bytes before. Second, when
 * node-pty writes to a program that does not read, a loop in libuv blocks the whole process. So this class writes to the
 * descriptor itself.
 */
export class Pty {
  readonly pid: number
  readonly #pty: IPty
  readonly #internals: PtyInternals | undefined
  readonly #listener: PtyListener
  readonly #maxUnwritten: number
  readonly #unwritten: Buffer[] = []
  #unwrittenBytes = 0
  #retry: NodeJS.Timeout | undefined
  #paused = false
  #closed = false
  /** Closes the pty. Undefined until the pty may be closed. */
  #close: (() => void) | undefined
  #destroySocket: (error?: Error) => unknown = () => undefined

  constructor(pty: IPty, listener: PtyListener, maxUnwritten: number) {
    this.pid = pty.pid
    this.#pty = pty
    this.#listener = listener
    this.#maxUnwritten = maxUnwritten
    this.#internals = internalsOf(pty)
    if (this.#internals) this.#holdOpen(this.#internals.socket)
    // Without an encoding node-pty emits buffers, except on Windows. Its types say string.
    pty.onData((data: string | Buffer) => listener.data(typeof data === 'string' ? Buffer.from(data) : data))
    pty.onExit(({ exitCode, signal }) => {
      this.#closed = true
      clearTimeout(this.#retry)
      listener.exited(signal ? 128 + signal : exitCode)
    })
  }

  /**
   * Writes input for the program. Input that the program has not read is kept, up to a limit. Input over the limit is
   * dropped as a whole.
   */
  write(data: string): void {
    if (this.#closed) return
    if (!this.#internals) return this.#pty.write(data)
    const bytes = Buffer.from(data)
    if (bytes.length === 0 || this.#unwrittenBytes + bytes.length > this.#maxUnwritten) return
    this.#unwritten.push(bytes)
    this.#unwrittenBytes += bytes.length
    if (this.#unwritten.length === 1) this.#writeKept(this.#internals.fd)
  }

  resize(cols: number, rows: number): void {
    // A closed pty is not resized: its descriptor number may belong to another file now.
    if (this.#closed) return
    this.#pty.resize(cols, rows)
  }

  pause(): void {
    this.#paused = true
    if (!this.#closed) this.#pty.pause()
  }

  resume(): void {
    this.#paused = false
    if (this.#closed) return
    this.#pty.resume()
    this.#close?.()
  }

  /** Closes the pty even if other processes still hold it. Their output so far is passed on. */
  close(): void {
    if (this.#closed || !this.#internals) return
    this.#prepareClose(this.#internals.socket)
    if (!this.#paused) this.#close?.()
  }

  kill(signal: string): void {
    if (this.#closed) return
    // Windows has no signals.
    if (this.#internals) this.#pty.kill(signal)
    else this.#pty.kill()
  }

  /** Replaces the `destroy` of node-pty's socket, so that node-pty cannot close the pty. */
  #holdOpen(socket: ReadStream): void {
    this.#destroySocket = socket.destroy.bind(socket)
    socket.destroy = (error?: Error) => {
      // Before the stream has ended, only node-pty's timer calls `destroy` without an error: the program has exited, but
      // other processes still hold the pty. The call is ignored, so that their output is not lost.
      if (!error && !socket.readableEnded) {
        if (!this.#close) this.#listener.orphaned()
        return socket
      }
      this.#prepareClose(socket, error)
      if (!this.#paused) this.#close?.()
      return socket
    }
  }

  #prepareClose(socket: ReadStream, error?: Error): void {
    this.#close ??= () => {
      this.#close = () => undefined
      this.#closed = true
      // Bytes in the stream's buffer are older than bytes in the kernel, so they are read first.
      while (socket.read() !== null);
      if (this.#internals) for (const bytes of remainingBytes(this.#internals.fd)) this.#listener.data(bytes)
      this.#destroySocket(error)
    }
  }

  #writeKept(fd: number): void {
    for (let bytes = this.#unwritten[0]; bytes; bytes = this.#unwritten[0]) {
      const written = this.#closed ? undefined : attempt(() => writeSync(fd, bytes))
      if (written === undefined) {
        this.#unwritten.length = this.#unwrittenBytes = 0
        return
      }
      this.#unwrittenBytes -= written
      if (written === bytes.length) this.#unwritten.shift()
      else {
        this.#unwritten[0] = bytes.subarray(written)
        // No event tells when the pty accepts input again, so the write is tried again after a pause.
        this.#retry = setTimeout(() => this.#writeKept(fd), 10)
        return
      }
    }
  }
}

/** Private members of node-pty, whose version is pinned for this reason. Windows has none of them. */
interface PtyInternals {
  readonly socket: ReadStream
  readonly fd: number
}

function internalsOf(pty: IPty): PtyInternals | undefined {
  // The cast reaches members that node-pty does not declare; both are checked below.
  const { _socket: socket, fd } = pty as IPty & { readonly _socket?: ReadStream; readonly fd?: number }
  return process.platform !== 'win32' && socket && typeof fd === 'number' ? { socket, fd } : undefined
}

/** Reads the bytes in the kernel's buffer of a pty: at most 1 MiB, in case a process keeps writing. */
function* remainingBytes(fd: number): Iterable<Buffer> {
  for (let i = 0; i < 256; i++) {
    const bytes = Buffer.allocUnsafe(4096)
    const length = attempt(() => readSync(fd, bytes))
    if (!length) return
    yield bytes.subarray(0, length)
  }
}

/**
 * Calls a function that reads or writes. Returns its result, 0 if the call would block, and undefined if it failed.
 */
function attempt(io: () => number): number | undefined {
  try {
    return io()
  } catch (error) {
    return codeOf(error) === 'EAGAIN' ? 0 : undefined
  }
}
