import Glibc
import Platform
import Testing
@testable import WiretapeCLI
import TapeTestSupport

#if canImport(Glibc) && compiler(>=6.2)

@Suite struct MemorySettingsTests {
    /// Whether malloc has mapped a block: the second bit of its size, which precedes it (glibc, malloc/malloc.c).
    private static func isMapped(_ block: UnsafeMutableRawPointer) -> Bool {
        block.load(fromByteOffset: -MemoryLayout<Int>.size, as: Int.self) & 2 != 0
    }

    /// Needs a process of its own: memory that other tests free moves the limit too.
    @Test func blocksUpToTheBodySizeComeFromTheHeapAfterwards() async {
        await #expect(processExitsWith: .success) {
            let size = 24 << 20
            let before = try #require(malloc(size))
            #expect(Self.isMapped(before))
            MemorySettings.apply(bodySize: size + 4096)
            let after = try #require(malloc(size))
            #expect(!Self.isMapped(after))
        }
    }
}
#endif

/// Serialized: signal handlers are set for the whole process.
@Suite(.serialized) struct SignalThreadTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    /// The watched signals that this thread blocks.
    private static func blocked() -> [Int32] {
        var set = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &set)
        return [SIGINT, SIGTERM, SIGHUP].filter { sigismember(&set, $0) == 1 }
    }

    /// Restores this thread's mask and SIGPIPE after a test.
    private static func isolated(_ body: () throws -> Void) rethrows {
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        let handler = signal(SIGPIPE, SIG_DFL)
        defer {
            signal(SIGPIPE, handler)
            pthread_sigmask(SIG_SETMASK, &mask, nil)
        }
        try body()
    }

    @Test func blockedSignalsAreLetThroughAgain() {
        Self.isolated {
            SignalThread.block()
            #expect(Self.blocked() == [SIGINT, SIGTERM, SIGHUP])
            SignalThread.unblock()
            #expect(Self.blocked() == [])
        }
    }

    @Test(arguments: ["inspect", "export", "verify"])
    func aCommandThatClosesNothingLetsSignalsThrough(name: String) {
        let path = self.folder.file("none.json")
        Self.isolated {
            SignalThread.block()
            #expect(throws: (any Error).self) {
                switch name {
                case "inspect": try InspectCommand.parse([path]).run()
                case "export": try ExportCommand.parse([path, "--har"]).run()
                default: try VerifyCommand.parse([path]).run()
                }
            }
            #expect(Self.blocked() == [], "\(name)")
        }
    }

    @Test(arguments: [16, 40, 63]) func tooFewOpenFilesAreAnError(count: Int) throws {
        let end = try ExternalProgram.run(
            "/bin/sh", ["-c", "ulimit -n \(count) && exec \"$0\" inspect none.json", try Programs.wiretape()],
            environment: Wiretape.environment())
        #expect(end.status == 1 && end.errors.contains("this process may open \(count) files"), "\(end.status) \(end.errors)")
    }

    /// Status 1 would mean that these commands found something.
    @Test(arguments: [
        "verify none.json", "diff none.json other.json", "lint none.json", "check none.json --against live", "suggest none.json other.json",
    ])
    func tooFewOpenFilesAreNoFindings(command: String) throws {
        let end = try ExternalProgram.run(
            "/bin/sh", ["-c", "ulimit -n 20 && exec \"$0\" \(command)", try Programs.wiretape()], environment: Wiretape.environment())
        #expect(end.status == 2 && end.errors.contains("this process may open 20 files"), "\(end.status) \(end.errors)")
    }

    /// A process that inherits most of the descriptors that it may have is told so, too.
    @Test func inheritedFilesCount() throws {
        let open = (3...30).map { "exec \($0)</dev/null" }.joined(separator: "; ")
        let end = try ExternalProgram.run(
            "/bin/bash", ["-c", "ulimit -n 72 && \(open); exec \"$0\" verify none.json", try Programs.wiretape()],
            environment: Wiretape.environment())
        #expect(end.status == 2 && end.errors.contains("may open 72 files, of which all but "), "\(end.status) \(end.errors)")
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func anExportThatCannotGoOnEndsAtASignal(signal: Int32) throws {
        let (export, reader) = try self.stalledExport()
        defer {
            export.stop()
            close(reader)
        }
        #expect(try export.end(with: signal).status == 128 + signal)
    }

    @Test func anExportEndsWhenItsReaderGoes() throws {
        let (export, reader) = try self.stalledExport()
        defer { export.stop() }
        close(reader)
        #expect(try export.wait().status == 128 + SIGPIPE)
    }

    /// An export into a full pipe.
    private func stalledExport() throws -> (ExternalProgram, reader: Int32) {
        let body = String(repeating: "wiretape ", count: 100_000)
        let cassette = try self.folder.write(cassetteText([interactionText(1, responseBody: "{ \"text\": \"\(body)\" }")]), to: "pets.json")
        let pipe = self.folder.file("pipe")
        guard mkfifo(pipe, 0o600) == 0 else { throw TestProblem("no pipe (\(String(cString: strerror(errno))))") }
        let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard reader >= 0 else { throw TestProblem("no pipe (\(String(cString: strerror(errno))))") }
        let export = try Wiretape.start(["export", cassette, "--har", "--output", pipe])
        do {
            try Deadline.wait(for: "the export's first bytes") {
                var wanted = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
                return poll(&wanted, 1, 0) == 1 && wanted.revents & Int16(POLLIN) != 0 ? () : nil
            }
        } catch {
            export.stop()
            close(reader)
            throw error
        }
        return (export, reader)
    }

    #if os(Linux)
    /// Runs the tool on its own terminal, types Ctrl-C, then sends SIGTERM. The command has left the terminal's process group, so it gets
    /// only the signals that the tool passes on, and none from the terminal.
    private static let terminal = """
        import os, pty, signal, sys
        child = '''
        import os, signal
        os.setpgid(0, 0)
        signals = {signal.SIGINT, signal.SIGTERM}
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        print("ready", flush=True)
        number = 0
        while number != signal.SIGTERM:
            number = signal.sigwait(signals)
            print("got", int(number), flush=True)
        '''
        tool, descriptor = pty.fork()
        if tool == 0:
            os.execv(sys.argv[1], [sys.argv[1], "record", sys.argv[2], "--", sys.executable, "-c", child])
        text = b""
        def read_until(wanted):
            global text
            while wanted is None or wanted not in text:
                try:
                    piece = os.read(descriptor, 4096)
                except OSError:
                    piece = b""
                if not piece:
                    break
                text += piece
        read_until(b"ready")
        os.write(descriptor, b"\\x03")
        read_until(b"^C")
        os.kill(tool, signal.SIGTERM)
        read_until(None)
        print(text.decode())
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(tool, 0)[1]))
        """

    @Test func signalOfTheTerminalIsNotSentToTheCommandAgain() throws {
        let arguments = ["-c", Self.terminal, try Programs.wiretape(), self.folder.file("pets.json")]
        let end = try ExternalProgram.run(try Programs.find("python3"), arguments)
        #expect(end.status == 0, "\(end.errors)")
        #expect(end.outputText.contains("got \(SIGTERM)"), "\(end.outputText)")
        #expect(!end.outputText.contains("got \(SIGINT)\r"), "\(end.outputText)")
    }
    #endif
}

@Suite struct StandardStreamsTests {
    @Test(arguments: ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"]) func aClosedStreamNeverBecomesTheCassette(closed: String) throws {
        let folder = try TemporaryFolder()
        let tool = try Programs.wiretape()
        let end = try ExternalProgram.run(
            "/bin/sh", ["-c", "exec '\(tool)' record '\(folder.file("a.json"))' -v -- curl -s -o /dev/null http://127.0.0.1:1/ \(closed)"])
        #expect(end.status == 0)
        let text = String(decoding: try folder.read("a.json"), as: UTF8.self)
        #expect(text.hasPrefix("{\n  \"wiretape\": 2,"), "\(text)")
        #expect(!text.contains("wiretape: "), "\(text)")
    }
}
