import Foundation
import TapeTestSupport
@testable import CassetteStore

/// Remembers all writes to one file since its last sync, and generates the possible content of the disk after a power failure.
///
/// Each sector of 512 bytes independently has its content after one of those writes; the size is the size after one of them.
final class PowerLossDisk: Sendable {
    private struct State {
        /// The file after the last sync, and after each later call.
        var versions: [[UInt8]] = [[]]
    }

    private let lock = NSLock()
    // SAFETY: only touched under the lock.
    nonisolated(unsafe) private var state = State()

    init(synced: [UInt8] = []) { self.state.versions = [synced] }

    private func change(_ body: (inout [UInt8]) -> Void) {
        self.lock.withLock {
            var next = self.state.versions[self.state.versions.count - 1]
            body(&next)
            self.state.versions.append(next)
        }
    }

    var calls: DiskCalls {
        var calls = DiskCalls.system
        calls.write = { descriptor, bytes, offset in
            let count = DiskCalls.system.write(descriptor, bytes, offset)
            if count > 0 {
                self.change { file in
                    if file.count < offset + count { file += [UInt8](repeating: 0, count: offset + count - file.count) }
                    file.replaceSubrange(offset..<(offset + count), with: bytes[..<count])
                }
            }
            return count
        }
        calls.truncate = { descriptor, size in
            let result = DiskCalls.system.truncate(descriptor, size)
            self.change { file in
                if size < file.count { file.removeSubrange(size...) } else { file += [UInt8](repeating: 0, count: size - file.count) }
            }
            return result
        }
        calls.synchronize = { _ in
            self.lock.withLock { self.state.versions.removeFirst(self.state.versions.count - 1) }
            return 0
        }
        return calls
    }

    func afterPowerLoss(using generator: inout SeededGenerator) -> [UInt8] {
        let versions = self.lock.withLock { self.state.versions }
        let size = versions.randomElement(using: &generator)?.count ?? 0
        // Often all sectors except a few have the same age.
        let common = Int.random(in: 0..<versions.count, using: &generator)
        let spread: Double = [0.05, 0.3, 1].randomElement(using: &generator) ?? 1
        var image: [UInt8] = []
        while image.count < size {
            let end = min(image.count + 512, size)
            let isStray = Double.random(in: 0..<1, using: &generator) < spread
            let version = versions[isStray ? Int.random(in: 0..<versions.count, using: &generator) : common]
            let content = version[min(image.count, version.count)..<min(end, version.count)]
            image += content + [UInt8](repeating: 0, count: end - image.count - content.count)
        }
        return image
    }
}
