import TapeTestSupport
import Testing
import Wiretape

struct FormDataSourceTests {
    @Test func eachKnowsItsLength() throws {
        let folder = try TemporaryFolder()
        let file = try FormDataFile(path: folder.write([1, 2, 3], to: "a"))
        #expect(FormDataSource.octets([1]).length == 1)
        #expect(FormDataSource.file(file).length == 3)
        #expect(FormDataSource.stream(FormDataStream(length: 9) { { _ in 0 } }).length == 9)
    }
}
