internal import Platform

/// This program in its other part: it enters a namespace, mounts what the plan says, and becomes the program that is run.
///
/// It stays the same process all along, so that signals, the terminal and the exit code are that program's own. Has to come before anything
/// that starts a thread, since a process with several enters no user namespace.
enum NamespaceEntry {
    /// As env(1) and its like have it for what went wrong before the program began.
    static let failed: Int32 = 125
    private static let notExecutable: Int32 = 126

    /// Does not come back where the command line is one of `NamespacePlan`.
    static func runIfAsked(_ arguments: [String] = CommandLine.arguments) {
        guard arguments.dropFirst().first == NamespacePlan.word else { return }
        #if os(Linux)
        guard let plan = NamespacePlan(arguments: arguments.dropFirst()), let mark = arguments.firstIndex(of: "--") else {
            Self.end(
                Self.failed, "wiretape: \"\(NamespacePlan.word)\" is for wiretape itself: give --trust namespace to \"wiretape record\".")
        }
        let isProbe = mark + 1 == arguments.count
        do throws(NamespaceObstacle) {
            try NamespaceMounts(plan).enter()
        } catch {
            if isProbe { Self.end(Self.failed, error.line, to: STDOUT_FILENO) }
            Self.end(Self.failed, "wiretape: " + NamespaceAdvice(error, .read()).refusal)
        }
        if isProbe { exit(0) }
        Self.become(arguments[mark + 1], CommandLine.unsafeArgv + mark + 1)
        #endif
    }

    #if os(Linux)
    /// - Parameter words: as they came: a path need not be UTF-8.
    private static func become(_ name: String, _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Never {
        guard let program = words[0] else { Self.end(Self.failed, "wiretape: there is no command behind \"--\": give one.") }
        execvp(program, words)
        // A program that was written a moment ago can still be open in a child of its writer, between fork and exec.
        for _ in 0..<20 where errno == ETXTBSY {
            poll(nil, 0, 10)
            execvp(program, words)
        }
        let status = errno == ENOENT ? ExitStatus.commandNotFound : Self.notExecutable
        let problem = String(cString: strerror(errno))
        Self.end(status, "wiretape: \"\(name)\" cannot be started (\(problem)): is it a program that you may run?")
    }

    private static func end(_ status: Int32, _ line: String, to descriptor: Int32 = STDERR_FILENO) -> Never {
        _ = Array((line + "\n").utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        exit(status)
    }
    #endif
}
