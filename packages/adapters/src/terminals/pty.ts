import { readSync, writeSync } from 'node:fs'
import type { ReadStream } from 'node:tty'
import type { IPty } from '@lydell/node-pty'

/** What is heard of a program on a pty. */
export interface Heard {
  bytes(bytes: Buffer): void
  /** It ended by itself, and others that it started hold its pty. */
  left(): void
  /** It ended, and all that anybody wrote was heard. */
  gone(exitCode: number): void
}

/**
 * One program on a pty, from which nothing is lost. node-pty alone loses the end of what a program wrote: libuv takes a
 * hangup for the end although the kernel holds more, and node-pty closes the pty 200 ms after the exit, whoever waits. So
 * closing is taken in hand here, and the rest is read before it. What node-pty writes makes libuv wait in a loop, with
 * the whole process, for a program that does not read: so it is written here too.
 */
export class Tty {
  readonly pid: number
  readonly #pty: IPty
  readonly #inside: Inside | undefined
  readonly #heard: Heard
  readonly #mostUnread: number
  readonly #unread: Buffer[] = []
  #unreadBytes = 0
  #retry: NodeJS.Timeout | undefined
  #paused = false
  #closed = false
  /** What closes the pty, once it may be closed. */
  #close: (() => void) | undefined

  constructor(pty: IPty, heard: Heard, mostUnread: number) {
    this.pid = pty.pid
    this.#pty = pty
    this.#heard = heard
    this.#mostUnread = mostUnread
    this.#inside = insideOf(pty)
    if (this.#inside) this.#holdOpen(this.#inside.socket)
    // With no encoding it gives bytes, whatever its types say, but not on Windows.
    pty.onData((data: string | Buffer) => heard.bytes(typeof data === 'string' ? Buffer.from(data) : data))
    pty.onExit(({ exitCode, signal }) => {
      this.#closed = true
      clearTimeout(this.#retry)
      heard.gone(signal ? 128 + signal : exitCode)
    })
  }

  /** What the program has not read waits here, up to a bound; what does not fit is dropped. */
  write(data: string): void {
    if (this.#closed) return
    if (!this.#inside) return this.#pty.write(data)
    const bytes = Buffer.from(data)
    if (bytes.length === 0 || this.#unreadBytes + bytes.length > this.#mostUnread) return
    this.#unread.push(bytes)
    this.#unreadBytes += bytes.length
    if (this.#unread.length === 1) this.#write(this.#inside.fd)
  }

  resize(cols: number, rows: number): void {
    // Its number may belong to another file by now.
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

  /** Nobody is waited for who still holds the pty; what they wrote so far is heard. */
  close(): void {
    if (this.#closed || !this.#inside) return
    this.#closing(this.#inside.socket)
    if (!this.#paused) this.#close?.()
  }

  kill(signal: string): void {
    if (this.#closed) return
    // Windows has no signals.
    if (this.#inside) this.#pty.kill(signal)
    else this.#pty.kill()
  }

  #holdOpen(socket: ReadStream): void {
    this.#destroy = socket.destroy.bind(socket)
    socket.destroy = (error?: Error) => {
      // Without an error, and before the end, it is node-pty that does not want to wait any longer.
      if (!error && !socket.readableEnded) {
        if (!this.#close) this.#heard.left()
        return socket
      }
      this.#closing(socket, error)
      if (!this.#paused) this.#close?.()
      return socket
    }
  }

  #destroy: (error?: Error) => unknown = () => undefined

  #closing(socket: ReadStream, error?: Error): void {
    this.#close ??= () => {
      this.#close = () => undefined
      this.#closed = true
      // What was read and not yet heard comes before what was not read.
      while (socket.read() !== null);
      if (this.#inside) for (const bytes of rest(this.#inside.fd)) this.#heard.bytes(bytes)
      this.#destroy(error)
    }
  }

  #write(fd: number): void {
    for (let bytes = this.#unread[0]; bytes; bytes = this.#unread[0]) {
      const written = this.#closed ? undefined : attempt(() => writeSync(fd, bytes))
      if (written === undefined) {
        this.#unread.length = this.#unreadBytes = 0
        return
      }
      this.#unreadBytes -= written
      if (written === bytes.length) this.#unread.shift()
      else {
        this.#unread[0] = bytes.subarray(written)
        // Nothing tells when there is room again.
        this.#retry = setTimeout(() => this.#write(fd), 10)
        return
      }
    }
  }
}

/** What node-pty keeps to itself; its version is pinned. There is none of it on Windows. */
interface Inside {
  readonly socket: ReadStream
  readonly fd: number
}

function insideOf(pty: IPty): Inside | undefined {
  const { _socket: socket, fd } = pty as unknown as { readonly _socket?: ReadStream; readonly fd?: number }
  return process.platform !== 'win32' && socket && typeof fd === 'number' ? { socket, fd } : undefined
}

/** All that the kernel holds: no more than it takes from writers at once, as nobody drains it meanwhile. */
function* rest(fd: number): Iterable<Buffer> {
  for (let i = 0; i < 256; i++) {
    const bytes = Buffer.allocUnsafe(4096)
    const length = attempt(() => readSync(fd, bytes))
    if (!length) return
    yield bytes.subarray(0, length)
  }
}

/** 0 where one would have to wait, nothing where it is over. */
function attempt(io: () => number): number | undefined {
  try {
    return io()
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : undefined
  }
}
