import Platform
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct ChildProcessTests {
    private func shell(_ script: String, _ environment: [String: String] = [:]) throws -> Int32 {
        try ChildProcess(command: ["/bin/sh", "-c", script], environment: environment).wait()
    }

    private func problem(_ command: [String]) -> ChildProcess.StartError? {
        do throws(ChildProcess.StartError) {
            _ = try ChildProcess(command: command, environment: [:])
            return nil
        } catch { return error }
    }

    @Test(arguments: [0, 1, 7, 255] as [Int32])
    func theExitCodeIsThePrograms(code: Int32) throws {
        #expect(try self.shell("exit \(code)") == code)
    }

    @Test(arguments: [SIGKILL, SIGTERM])
    func aSignalCountsAsInAShell(signal: Int32) throws {
        #expect(try self.shell("kill -\(signal) $$") == 128 + signal)
    }

    /// A program that outlives the proxy would keep its port open.
    @Test func ourOwnDescriptorsAreNotTheProgramsToo() throws {
        let own = dup(STDOUT_FILENO)
        defer { close(own) }
        #expect(fcntl(own, F_GETFD) & FD_CLOEXEC == 0)
        #expect(try self.shell("test ! -e /dev/fd/\(own) && test -e /dev/fd/1") == 0)
    }

    @Test func aSignalReachesTheProgram() throws {
        let child = try ChildProcess(command: ["/bin/sleep", "60"], environment: [:])
        child.send(signal: SIGTERM)
        #expect(child.wait() == 128 + SIGTERM)
    }

    @Test func theEnvironmentIsTheGivenOneAlone() throws {
        #expect(try self.shell("test \"$A\" = 'x = y' && test -z \"$HOME\"", ["A": "x = y"]) == 0)
    }

    @Test func argumentsArriveAsTheyAre() throws {
        let command = [
            "/bin/sh", "-c", "test $# = 3 && test \"$1\" = 'a b' && test \"$2\" = '' && test \"$3\" = '$HOME'", "sh", "a b", "", "$HOME",
        ]
        #expect(try ChildProcess(command: command, environment: [:]).wait() == 0)
    }

    /// This thread blocks SIGINT like all threads of the tool; the child has to be interruptible.
    @Test func signalsThatTheParentBlocksEndTheChild() throws {
        var blocked = sigset_t()
        var old = sigset_t()
        sigemptyset(&blocked)
        sigaddset(&blocked, SIGINT)
        pthread_sigmask(SIG_BLOCK, &blocked, &old)
        defer { pthread_sigmask(SIG_SETMASK, &old, nil) }
        #expect(try self.shell("kill -INT $$; exit 0") == 128 + SIGINT)
    }

    @Test func aProgramThatIsNotThereIsNotFound() {
        guard case .notFound(let message) = self.problem(["no-such-program-of-wiretape", "x"]) else {
            Issue.record("not told apart")
            return
        }
        #expect(message == "\"no-such-program-of-wiretape\" was not found: pass the program's path, or add its folder to PATH.")
    }

    @Test func aFileThatIsNoProgramCannotBeStarted() throws {
        let folder = try TemporaryFolder()
        guard case .failed(let message) = self.problem([folder.path]) else {
            Issue.record("not told apart")
            return
        }
        #expect(message == "\"\(folder.path)\" cannot be started (Permission denied): is it a program that you may run?")
    }

    @Test func noCommandIsNoProgram() {
        guard case .failed(let message) = self.problem([]) else {
            Issue.record("not told apart")
            return
        }
        #expect(message.contains("\"--\""))
    }
}
