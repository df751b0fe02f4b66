import Testing

@testable import WiretapeCLI

@Suite struct ChildProcessTests {
    @Test func theExitCodeComesBack() throws {
        #expect(try ChildProcess(command: ["sh", "-c", "exit $CODE"], environment: ["CODE": "42"]).wait() == 42)
    }

    @Test func aSignalEndsItAndIsToldAsShellsDo() throws {
        let child = try ChildProcess(command: ["sh", "-c", "read line <>/dev/ptmx"], environment: [:])
        child.send(signal: 15)
        #expect(child.wait() == 128 + 15)
    }

    @Test func aProgramThatIsNotThereIsToldByName() throws {
        let error = #expect(throws: ChildProcess.StartError.self) { try ChildProcess(command: ["no-such-program"], environment: [:]) }
        guard case .notFound(let message)? = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(message.contains("\"no-such-program\""))
    }

    @Test func noCommandIsAnError() {
        #expect(throws: ChildProcess.StartError.self) { try ChildProcess(command: [], environment: [:]) }
    }
}
