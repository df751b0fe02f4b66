import Foundation
import Platform
import TapeTestSupport

/// A program under test or its peer: it can be started, signalled and awaited; its output goes to files.
///
/// Inherits only the variables in `base`. Each test uses its own; call `stop` in a `defer`, since a failing test leaves early.
final class ExternalProgram {
    struct Ended {
        /// The exit code, or 128 plus the signal's number, as in a shell.
        var status: Int32
        var output: [UInt8]
        var errors: String

        var outputText: String { String(decoding: self.output, as: UTF8.self) }
    }

    let id: pid_t
    let name: String
    let errorsPath: String
    private let folder: TemporaryFolder
    private var status: Int32?

    /// - Parameters:
    ///   - environment: overrides `base`.
    ///   - directory: the working directory; a new folder by default.
    init(_ path: String, _ arguments: [String], environment: [String: String] = [:], directory: String? = nil) throws {
        self.name = (path as NSString).lastPathComponent
        self.folder = try TemporaryFolder()
        self.errorsPath = self.folder.file("errors")
        try FileManager.default.createDirectory(atPath: self.folder.file("home"), withIntermediateDirectories: false)

        var variables = Self.base(home: self.folder.file("home"))
        for (name, value) in environment { variables[name] = value }
        // The shell changes the folder, which posix_spawn cannot do everywhere, and then becomes the program.
        var argv: [UnsafeMutablePointer<CChar>?] =
            (["sh", "-c", "cd \"$0\" && exec \"$@\"", directory ?? self.folder.file("home"), path] + arguments).map { strdup($0) } + [nil]
        var envp: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }

        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, self.folder.file("output"), O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, self.errorsPath, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGXFSZ] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // A separate group, so that `stop` reaches the program's children too.
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        var id = pid_t()
        let status = posix_spawn(&id, "/bin/sh", &actions, &attributes, &argv, &envp)
        guard status == 0 else { throw TestProblem("\"\(path)\" cannot be started (\(String(cString: strerror(status))))") }
        self.id = id
    }

    private static func base(home: String) -> [String: String] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return ["PATH": path, "HOME": home, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"]
    }

    /// Starts a program, and waits until it ends by itself.
    static func run(
        _ path: String, _ arguments: [String], environment: [String: String] = [:], directory: String? = nil, seconds: Double = 120
    ) throws -> Ended {
        let program = try ExternalProgram(path, arguments, environment: environment, directory: directory)
        defer { program.stop() }
        return try program.wait(seconds: seconds)
    }

    var output: [UInt8] { (try? self.folder.read("output")) ?? [] }
    var errors: String { String(decoding: (try? self.folder.read("errors")) ?? [], as: UTF8.self) }

    var hasEnded: Bool {
        if self.status != nil { return true }
        var raw: Int32 = 0
        guard waitpid(self.id, &raw, WNOHANG) == self.id else { return false }
        let signal = raw & 0x7f
        self.status = signal == 0 ? (raw >> 8) & 0xff : 128 + signal
        return true
    }

    func send(_ signal: Int32) {
        guard !self.hasEnded else { return }
        kill(self.id, signal)
    }

    /// Waits until the program ends by itself.
    func wait(seconds: Double = 120) throws -> Ended {
        do {
            let status = try Deadline.wait(for: "the end of \"\(self.name)\"", seconds: seconds) { self.hasEnded ? self.status : nil }
            return Ended(status: status, output: self.output, errors: self.errors)
        } catch {
            throw TestProblem("\(error); it said: \(self.errors)")
        }
    }

    /// Asks it to end, and kills it if necessary.
    func end(with signal: Int32 = SIGTERM, seconds: Double = 120) throws -> Ended {
        self.send(signal)
        return try self.wait(seconds: seconds)
    }

    /// Kills it and all its children at once.
    func stop() {
        // The group's id stays taken while one of its processes exists, and is not reused before the leader has been awaited.
        if !self.hasEnded { kill(-self.id, SIGKILL) }
        while !self.hasEnded { poll(nil, 0, 1) }
    }

    /// Waits until the program has printed a text.
    func said(_ text: String, seconds: Double = 120) throws {
        _ = try self.find("\"\(text)\"", seconds: seconds) { $0.contains(text) ? true : nil }
    }

    /// Waits until `look` finds something in the program's output, errors first.
    func find<Value>(_ what: String, seconds: Double = 120, _ look: (String) -> Value?) throws -> Value {
        try Deadline.wait(for: "\(what) from \"\(self.name)\"", seconds: seconds) {
            let text = self.errors + String(decoding: self.output, as: UTF8.self)
            if let value = look(text) { return value }
            if self.hasEnded, look(self.errors + String(decoding: self.output, as: UTF8.self)) == nil {
                throw TestProblem("\"\(self.name)\" ended with \(self.status ?? -1) and never said \(what), but: \(text)")
            }
            return nil
        }
    }

    /// The port in the first `http://127.0.0.1:` or `https://127.0.0.1:` of its output that ends with a line end.
    func port() throws -> Int {
        try self.find("its address") { text in
            guard let start = text.range(of: "://127.0.0.1:")?.upperBound else { return nil }
            let digits = text[start...].prefix { $0.isNumber }
            guard digits.endIndex < text.endIndex else { return nil }
            return Int(digits)
        }
    }
}
