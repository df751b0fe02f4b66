import Foundation

/// A command that has run in a shell.
struct ShellRun {
    let output: Data
    let errors: String
    let status: Int32

    init(_ shell: String, _ command: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // A file, since arguments are limited, as lines of a terminal are not.
        let script = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-\(UUID().uuidString).sh")
        try Data(command.utf8).write(to: script)
        defer { try? FileManager.default.removeItem(at: script) }
        process.arguments = [shell, script.path]
        let (output, errors) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError, process.standardInput) = (output, errors, FileHandle.nullDevice)
        try process.run()
        // Errors are few: a pipe holds them.
        self.output = output.fileHandleForReading.readDataToEndOfFile()
        self.errors = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        self.status = process.terminationStatus
    }
}
