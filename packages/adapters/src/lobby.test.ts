import { Socket } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { lobby, lobbyLimits } from './lobby.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A lobby that so many have entered. */
function crowd(count: number) {
  const waiting = lobby(lobbyLimits)
  const sockets = Array.from({ length: count }, () => new Socket())
  for (const socket of sockets) waiting.enter(socket, socket)
  return { waiting, sockets }
}

test('[S-57 lobbySockets] at 256: all may wait', () => {
  const { waiting, sockets } = crowd(256)
  expect(sockets.some(({ destroyed }) => destroyed)).toBe(false)
  expect(waiting.size).toBe(256)
})

test('[S-57 lobbySockets] past 256: the oldest are shown out', () => {
  const { waiting, sockets } = crowd(300)
  expect(sockets.map(({ destroyed }) => destroyed).lastIndexOf(true)).toBe(43)
  expect(sockets.filter(({ destroyed }) => destroyed)).toHaveLength(44)
  expect(waiting.size).toBe(256)
})

test('[S-57 upgradeMs] at 5,000: one may take so long', () => {
  const { waiting, sockets } = crowd(1)
  vi.advanceTimersByTime(4999)
  expect(sockets[0]?.destroyed).toBe(false)
  waiting.leave(sockets[0] as Socket)
  vi.advanceTimersByTime(5000)
  expect(sockets[0]?.destroyed).toBe(false)
  expect(waiting.size).toBe(0)
})

test('[S-57 upgradeMs] past 5,000: it is destroyed', () => {
  const { sockets } = crowd(2)
  vi.advanceTimersByTime(5000)
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true])
})
