import Dispatch
import Platform
import TapeBytes
import Testing
@testable import WiretapeCLI

/// Transcripts of Ctrl-C and of what follows: a number means the passing of seconds.
@Suite struct StubbornCommandTests {
    private struct Scene: Sendable {
        var time = 0
        var later: [(time: Int, work: @Sendable () -> Void)] = []
        var heard: [String] = []
    }

    private func heard(_ events: String) -> [String] {
        let start = DispatchTime.now()
        let scene = Guarded(Scene())
        let command = StubbornCommand(
            schedule: { at, work in
                let seconds = Int((at.uptimeNanoseconds - start.uptimeNanoseconds + 500_000_000) / 1_000_000_000)
                scene.withLock { $0.later.append((seconds, work)) }
            },
            now: { start + .seconds(scene.withLock { $0.time }) },
            say: { text in scene.withLock { $0.heard.append(String(text.prefix { $0 != " " })) } },
            send: { signal in scene.withLock { $0.heard.append(signal == SIGTERM ? "TERM" : signal == SIGKILL ? "KILL" : "\(signal)") } })
        for event in events.split(separator: " ") {
            switch event {
            case "^C": command.interrupted()
            case "end": command.ended()
            default:
                let time = scene.withLock { scene in
                    scene.time += Int(event) ?? 0
                    return scene.time
                }
                let due = scene.withLock { scene in
                    defer { scene.later.removeAll { $0.time <= time } }
                    return scene.later.filter { $0.time <= time }
                }
                for one in due { one.work() }
            }
        }
        return scene.withLock { $0.heard }
    }

    @Test(arguments: [
        // A command that ends by Ctrl-C needs no line.
        ("^C end 9", []), ("^C ^C end 9", ["ending", "TERM"]),
        // One that goes on is waited for, and named once.
        ("^C 9", ["waiting"]), ("^C 9 ^C 9 ^C 9", ["waiting"]), ("^C 9 end", ["waiting"]),
        // A second one soon after the first ends it, with force if it must be.
        ("^C 1 ^C 2 end 9", ["waiting", "ending", "TERM"]), ("^C 1 ^C 9", ["waiting", "ending", "TERM", "KILL"]),
        ("^C 9 ^C 1 ^C 9", ["waiting", "ending", "TERM", "KILL"]),
    ]) func aCommandThatGoesOnIsEndedByASecondOne(events: String, expected: [String]) {
        #expect(self.heard(events) == expected)
    }
}
