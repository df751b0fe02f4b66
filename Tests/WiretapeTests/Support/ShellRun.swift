import Foundation
import Platform

/// The result of a shell command, which ran in a folder of its own that is removed.
///
/// It uses files instead of `Process` and pipes: a pipe and the end of a `Process` both wait for every other program that was started in
/// the meantime and has inherited the other side.
struct ShellRun {
    let output: Data
    let errors: String
    let status: Int32

    struct Problem: Error {}

    init(_ shell: String, _ command: String) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["script", "output", "errors"].map { folder.appendingPathComponent($0) }
        for (file, text) in zip(files, ["cd '\(folder.path)'\n\(command)", "", ""]) { try Data(text.utf8).write(to: file) }

        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        #else
        var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, files[1].path, O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, files[2].path, O_WRONLY, 0)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        var arguments = Self.pointers(["env", shell, files[0].path])
        var variables = Self.pointers(["PATH=\(path)", "LANG=C.UTF-8"])
        defer { for pointer in arguments + variables { free(pointer) } }
        var id = pid_t()
        guard posix_spawn(&id, "/usr/bin/env", &actions, nil, &arguments, &variables) == 0 else { throw Problem() }
        var raw: Int32 = 0
        while waitpid(id, &raw, 0) < 0 { guard errno == EINTR else { throw Problem() } }
        self.output = try Data(contentsOf: files[1])
        self.errors = String(decoding: try Data(contentsOf: files[2]), as: UTF8.self)
        self.status = raw & 0x7f == 0 ? (raw >> 8) & 0xff : 128 + (raw & 0x7f)
    }

    private static func pointers(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        var pointers: [UnsafeMutablePointer<CChar>?] = []
        for text in texts { pointers.append(strdup(text)) }
        return pointers + [nil]
    }
}
