import { readFileSync, statSync, writeFileSync } from 'node:fs'
import type { Chance } from '../chance.ts'

/** A way to damage a file. */
export interface Damage {
  readonly name: string
  apply(bytes: Buffer, chance: Chance): Buffer
}

/** F-03: damage to the end of a file, as a power cut, a bad sector or a file system without a journal leaves it. */
export const tails: readonly Damage[] = [
  { name: 'a torn tail', apply: (bytes, chance) => bytes.subarray(0, chance.between(0, bytes.length - 1)) },
  {
    name: 'a garbage tail',
    apply: (bytes, chance) => Buffer.concat([bytes, garbage(chance, chance.between(1, 9000))]),
  },
  {
    name: 'a tail of zeros',
    apply: (bytes, chance) => overwriteTail(bytes, chance, (length) => Buffer.alloc(length)),
  },
  {
    name: 'garbage over the tail',
    apply: (bytes, chance) => overwriteTail(bytes, chance, (length) => garbage(chance, length)),
  },
]

/** F-04: one flipped bit anywhere in the file. */
export const flip: Damage = {
  name: 'a flipped bit',
  apply: (bytes, chance) => flipped(bytes, chance.between(0, bytes.length - 1), chance.between(0, 7)),
}

/** F-03: the file is there and has lost everything. */
export const emptied: Damage = { name: 'nothing left', apply: () => Buffer.alloc(0) }

export function flipped(bytes: Buffer, at: number, bit: number): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeUInt8(copy.readUInt8(at) ^ (1 << bit), at)
  return copy
}

/** Damages a file in place. Returns false if it does not exist or is empty. */
export function damageFile(path: string, damage: Damage, chance: Chance): boolean {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return false
  writeFileSync(path, damage.apply(readFileSync(path), chance))
  return true
}

function overwriteTail(bytes: Buffer, chance: Chance, make: (length: number) => Buffer): Buffer {
  const from = chance.between(0, bytes.length - 1)
  return Buffer.concat([bytes.subarray(0, from), make(bytes.length - from)])
}

function garbage(chance: Chance, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => chance.between(0, 255)))
}
