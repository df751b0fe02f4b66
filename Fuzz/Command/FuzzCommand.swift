internal import FuzzTargets

/// Lets libFuzzer call one target: the first argument names it, the others are libFuzzer's.
///
/// What it starts with and what it finds is up to scripts/fuzz.sh.
@main
struct FuzzCommand {
    /// libFuzzer's callback is a C function, which captures nothing.
    private nonisolated(unsafe) static var target: (any FuzzTarget.Type)?

    static func main() {
        let name = CommandLine.argc > 1 ? CommandLine.arguments[1] : ""
        guard let target = FuzzTargets.all[name] else {
            print("usage: fuzz \(FuzzTargets.all.keys.sorted().joined(separator: "|")) [libFuzzer's arguments]")
            return
        }
        self.target = target
        // The program's own name moves over that of the target.
        var count = CommandLine.argc - 1
        var arguments = CommandLine.unsafeArgv + 1
        arguments[0] = CommandLine.unsafeArgv[0]
        _ = runFuzzer(&count, &arguments) { data, size in
            do {
                try FuzzCommand.target?.run(UnsafeRawBufferPointer(start: data, count: size))
            } catch {
                // libFuzzer keeps the input of a program that ends this way.
                fatalError("\(error)")
            }
            return 0
        }
    }
}

/// `LLVMFuzzerRunDriver` of compiler-rt/include/fuzzer/FuzzerInterface.h: SwiftPM renames `main`, so libFuzzer's own cannot be used.
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ run: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
