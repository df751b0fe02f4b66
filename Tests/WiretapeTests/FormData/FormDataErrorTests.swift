import Testing
import Wiretape

struct FormDataErrorTests {
    @Test func aCodeIsShownByItsName() {
        #expect(FormDataError.Code.notAFileURL.description == "notAFileURL")
        #expect(FormDataError.Code.noSize != .isFolder)
    }

    @Test func anErrorIsShownByItsMessage() {
        #expect("\(FormDataError(.unreachable, "there is none"))" == "there is none")
    }
}
